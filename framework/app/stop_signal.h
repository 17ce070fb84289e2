/* stop_signal.h - SIGINT, SIGTERM and SIGHUP ask a run to stop; a second one ends it at once. */
#ifndef LOOM_STOP_SIGNAL_H
#define LOOM_STOP_SIGNAL_H

/* From here on the three only set a flag.  The next one of them acts by its default.  SIGHUP
 * stays ignored where it was (nohup). */
void stop_signal_catch(void);
int stop_signal_asked(void);           /* the signal that came, 0: none */
const char *stop_signal_name(int sig); /* "SIGTERM" */

#endif
