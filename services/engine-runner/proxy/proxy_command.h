/*
 * proxy_command: "engine-runner proxy", a service of its own.
 */
#ifndef ENGINE_RUNNER_PROXY_COMMAND_H
#define ENGINE_RUNNER_PROXY_COMMAND_H

struct svc_run;

/* As struct svc_command has it; for a row that is alone. */
int proxy_command(const struct svc_run *r);

#endif /* !ENGINE_RUNNER_PROXY_COMMAND_H */
