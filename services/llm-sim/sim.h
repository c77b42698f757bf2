/*
 * sim: the process's state and its routes.
 */
#ifndef LLM_SIM_SIM_H
#define LLM_SIM_SIM_H

#include <stdint.h>

struct svc;
struct svc_call;

struct sim_conf {
	int64_t first_ms; /* before the first byte of every answer */
	int64_t token_ms; /* between two pieces of a stream */
};

/* sim_start(s, conf), sim_stop(app): See struct svc_def. */
void *sim_start(struct svc *s, const void *conf);
void sim_stop(void *app);

/* Handlers. */
void on_chat(void *app, struct svc_call *c);
void on_messages(void *app, struct svc_call *c);
void on_embeddings(void *app, struct svc_call *c);
void on_script(void *app, struct svc_call *c);

#endif /* !LLM_SIM_SIM_H */
