/*
 * watch: the check at work: a client of the broker on a loop, and a judge.
 */
#ifndef BODY_SIM_WATCH_H
#define BODY_SIM_WATCH_H

struct checkup_conf;

/*
 * watch_run(conf):
 * Watch until all is known or the time is over, print what was seen and what it
 * means.  The program's exit code.
 */
int watch_run(const struct checkup_conf *conf);

#endif /* !BODY_SIM_WATCH_H */
