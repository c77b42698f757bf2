/*
 * handlers: commands of this service, for main.c.
 */
#ifndef HANDLERS_H
#define HANDLERS_H

struct svc_run;

/* replay_command(r): Print the events of a spool; alone. */
int replay_command(const struct svc_run *r);

extern const char replay_usage[], replay_help[];

#endif /* !HANDLERS_H */
