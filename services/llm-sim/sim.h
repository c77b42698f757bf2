/*
 * sim: the process and its routes.
 */
#ifndef LLM_SIM_SIM_H
#define LLM_SIM_SIM_H

#include <stdint.h>

struct svc;
struct svc_call;

struct sim_conf {
	int64_t first_ms; /* before the first byte of a response */
	int64_t token_ms; /* between two chunks of a stream */
};

/* sim_start(s, conf), sim_stop(app): As struct svc_def has them. */
void *sim_start(struct svc *s, const void *conf);
void sim_stop(void *app);

/* Handlers. */
void sim_chat(void *app, struct svc_call *c);
void sim_messages(void *app, struct svc_call *c);
void sim_embeddings(void *app, struct svc_call *c);
void sim_script(void *app, struct svc_call *c);

#endif /* !LLM_SIM_SIM_H */
