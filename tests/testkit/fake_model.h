/*
 * fake_model: a language model whose completions are given by the test, and
 * that records its requests.  One per process.
 */
#ifndef TESTKIT_FAKE_MODEL_H
#define TESTKIT_FAKE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"
#include "testkit/memory_fixture.h"

/* Responds to request number n with that body; on a thread of its own. */
typedef void (*fake_model_fn)(int fd, int n, struct str body);

/*
 * fake_model_start(fx, fn): Start it, servers and worker 0.
 * fake_model_stop(fx): Stop all of it.
 */
void fake_model_start(struct memory_fixture *fx, fake_model_fn fn);
void fake_model_stop(struct memory_fixture *fx);

/*
 * fake_model_respond(fd, status, body): Respond with JSON.
 * fake_model_respond_text(fd, text): Respond with a completion.
 */
void fake_model_respond(int fd, int status, const char *body);
void fake_model_respond_text(int fd, const char *text);

/*
 * fake_model_calls(): Requests so far.
 * fake_model_prompt(n, i): The text of message i (0: system) of request n;
 * freed by the caller. fake_model_prompt_has(n, i, text): Whether it contains
 * text.
 */
int fake_model_calls(void);
char *fake_model_prompt(int n, size_t i);
bool fake_model_prompt_has(int n, size_t i, const char *text);

#endif /* !TESTKIT_FAKE_MODEL_H */
