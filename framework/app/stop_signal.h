/* stop_signal.h - SIGINT, SIGTERM and SIGHUP ask a run to stop; a second one ends it at once. */
#ifndef LOOM_STOP_SIGNAL_H
#define LOOM_STOP_SIGNAL_H

/* From here on the three signals end the process at once, with EXIT_STOPPED: no step is running,
 * and a scene or a log may take long to open.  SIGHUP stays ignored if it was (nohup). */
void stop_signal_catch(void);
/* From here on the first one sets a flag and says on standard error that the present step, which
 * may take minutes, is the last.  A second one acts by its default. */
void stop_signal_defer(void);
int stop_signal_asked(void);           /* the signal that came, 0: none */
const char *stop_signal_name(int sig); /* "SIGTERM" */

#endif
