/*
 * tool_provider: a provider of tools as a plain NATS client, with replies that
 * the test sets, and a log of the requests that it got.
 *
 * Functions may be called on any thread.  Failures fail the test.
 */
#ifndef TESTKIT_TOOL_PROVIDER_H
#define TESTKIT_TOOL_PROVIDER_H

#include <jansson.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define TOOL_PROVIDER_CALLS_MAX 32

/* What it does with a call. */
enum tool_provider_mode {
	TOOL_REPLIES, /* with the reply that is set */
	TOOL_MUTE,    /* with nothing */
	TOOL_RUNS,    /* it is running, and says nothing more */
	TOOL_REPORTS, /* progress, three times, then the reply */
	TOOL_DOUBLES, /* the reply, then another one */
	TOOL_BAD      /* what is no reply, then the reply */
};

struct tool_provider {
	natsConnection *nc;
	natsSubscription *sub;
	char name[64];
	pthread_mutex_t lock; /* protects all below */
	/* Behaviour: */
	int revision;
	const char *list;  /* a tool_list_reply without its revision; NULL:
			    * no reply */
	const char *found; /* the same of a request whose text begins with
			    * "?"; NULL: list */
	enum tool_provider_mode mode;
	const char *reply; /* members of tool_call_reply: "\"ok\":true" */
	const char *mute;  /* a tool that it does not reply for; or NULL */
	/* Requests: */
	size_t n_lists, n_calls, n_cancels;
	json_t *calls[TOOL_PROVIDER_CALLS_MAX];
	json_t *last_list;
	char last_reply[128]; /* where replies to the last call go */
};

/*
 * tool_provider_start(p, url, name): Connect, and announce itself.
 * tool_provider_stop(p):             Disconnect.
 */
void tool_provider_start(
    struct tool_provider *p, const char *url, const char *name);
void tool_provider_stop(struct tool_provider *p);

/*
 * tool_provider_announce(p, user): Announce the revision; user may be NULL.
 * tool_provider_set(p, member, value): Change the behaviour.
 */
void tool_provider_announce(struct tool_provider *p, const char *user);
#define tool_provider_set(p, member, value)       \
	do {                                      \
		pthread_mutex_lock(&(p)->lock);   \
		(p)->member = (value);            \
		pthread_mutex_unlock(&(p)->lock); \
	} while (0)

/*
 * tool_provider_lists(p), _calls(p), _cancels(p): Requests so far.
 * tool_provider_call(p, i): Call i, or NULL.
 * tool_provider_alive(p): The last call runs, without progress.
 */
size_t tool_provider_lists(struct tool_provider *p);
size_t tool_provider_calls(struct tool_provider *p);
size_t tool_provider_cancels(struct tool_provider *p);
json_t *tool_provider_call(struct tool_provider *p, size_t i);
void tool_provider_alive(struct tool_provider *p);

/* A tool for lists: policy is auto or ask, read_only true or false. */
#define TOOL_PROVIDER_TOOL(server, name, policy, read_only) \
	TOOL_PROVIDER_TIMED(server, name, policy, read_only, "60")
/* One that may take so many seconds without progress. */
#define TOOL_PROVIDER_TIMED(server, name, policy, read_only, seconds)        \
	"{\"name\":\"" server "__" name "\",\"server\":\"" server            \
	"\",\"tool\":\"" name "\",\"description\":\"Does " name              \
	".\",\"schema\":{\"type\":\"object\",\"properties\":{\"path\":{"     \
	"\"type\":\"string\"},\"n\":{\"type\":\"integer\"}},\"required\":["  \
	"\"path\"]},\"policy\":\"" policy "\",\"read_only\":" read_only      \
	",\"idempotent\":false,\"timeout_s\":" seconds ",\"definition\":"    \
	"\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" \
	"\"}"

#endif /* !TESTKIT_TOOL_PROVIDER_H */
