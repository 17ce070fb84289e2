/* build_info.h - sources, compiler and options of this binary; written by LoomBuildInfo.cmake. */
#ifndef LOOM_BUILD_INFO_H
#define LOOM_BUILD_INFO_H

extern const char loom_build_version[]; /* "0.2.0" */
extern const char loom_build_commit[];  /* "a8b16c1...", "...-dirty", or "unknown" */
extern const char loom_build_info[];    /* commit, compiler, options: loom_plugin.build */

#endif
