/* elastica.h - a heavy cantilever by the exact theory of rods. */
#ifndef LOOM_TEST_ELASTICA_H
#define LOOM_TEST_ELASTICA_H

/* Drop over reach of the tip of a strip that is clamped horizontally and bends under its weight;
 * gamma = weight per area times length^3 over rigidity.  1: 0.124562, 10: 1.066802. */
double elastica_drop_ratio(double gamma);

#endif
