/*
 * check_command: body-sim check: tests a real body against the protocol.
 */
#ifndef BODY_SIM_CHECK_COMMAND_H
#define BODY_SIM_CHECK_COMMAND_H

struct svc_run;

/* check_run(r): The whole command, including --help; returns the exit code. */
int check_run(const struct svc_run *r);

#endif /* !BODY_SIM_CHECK_COMMAND_H */
