/*
 * orch_model: a language model whose responses are queued by the test, one per
 * request, and that records its requests.
 *
 * Functions may be called on any thread.  Failures fail the test.
 */
#ifndef TESTKIT_ORCH_MODEL_H
#define TESTKIT_ORCH_MODEL_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"

#define ORCH_MODEL_REQUESTS_MAX 32

struct orch_model_response {
	int status; /* 0: close the connection instead */
	int delay_ms;
	char *body;
	int gap_ms; /* between the events of a stream; -1: no stream */
};

struct orch_model {
	int fd, port;
	int quit[2]; /* a byte in it ends the threads */
	pthread_t thread;
	pthread_mutex_t lock; /* protects all below */
	struct orch_model_response responses[ORCH_MODEL_REQUESTS_MAX];
	size_t n_responses, next;
	json_t *requests[ORCH_MODEL_REQUESTS_MAX];
	size_t n_requests;
	struct mono sent; /* the first event of the last stream */
	bool paused;      /* streams stop after their first event */
};

/* orch_model_start(m), orch_model_stop(m). */
void orch_model_start(struct orch_model *m);
void orch_model_stop(struct orch_model *m);

/* ---- responses ---- */

/*
 * orch_model_respond(m, status, delay_ms, body): Queue a response; takes body.
 * orch_model_reply(m, text, calls): A completion; calls is NULL or a list of
 *     [name, arguments as text].
 * orch_model_reply_after(m, text, calls, delay_ms): The same, delayed.
 * orch_model_stream(m, text, calls, gap_ms): A stream with the chunks of text
 *     that "|" separates, gap_ms apart, then the calls.
 * orch_model_fail(m, status): An error.
 */
void orch_model_respond(
    struct orch_model *m, int status, int delay_ms, char *body);
void orch_model_reply(
    struct orch_model *m, const char *text, const char *calls);
void orch_model_reply_after(
    struct orch_model *m, const char *text, const char *calls, int delay_ms);
void orch_model_stream(
    struct orch_model *m, const char *text, const char *calls, int gap_ms);
void orch_model_fail(struct orch_model *m, int status);

/* orch_model_hold(m, paused): Pause streams after their first event, or not. */
void orch_model_hold(struct orch_model *m, bool paused);

/* orch_model_pause(m, ms): Sleep; false if the model is being stopped. */
bool orch_model_pause(struct orch_model *m, int ms);

/* ---- requests ---- */

/*
 * orch_model_requests(m):    How many there were.
 * orch_model_request(m, i):  Request i; valid until orch_model_stop().
 */
size_t orch_model_requests(struct orch_model *m);
json_t *orch_model_request(struct orch_model *m, size_t i);

/*
 * orch_model_tools(request, dst, size): The names of its tools, "nod,light".
 * orch_model_roles(request, dst, size): The roles of its messages, "suat".
 * orch_model_message(request, i): Message i; from the end if i < 0.
 * orch_model_text(request, i):    Its text, or "".
 */
const char *orch_model_tools(json_t *request, char *dst, size_t size);
const char *orch_model_roles(json_t *request, char *dst, size_t size);
json_t *orch_model_message(json_t *request, int i);
const char *orch_model_text(json_t *request, int i);

#endif /* !TESTKIT_ORCH_MODEL_H */
