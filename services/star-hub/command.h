/*
 * command: a request to the hub that is being handled, and its outcome.
 */
#ifndef STAR_HUB_COMMAND_H
#define STAR_HUB_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "hub.h"
#include "payload.h"
#include "wire/out.h"

struct envelope;

/* Requests of one client that wait for Redis, or other hubs. */
#define COMMAND_WAITING_MAX 16

struct command_run {
	struct hub *h;
	struct client *c;
	const struct envelope *e; /* NULL: it waits */
	struct hub_failure *f;
	struct payload p;
	struct str reply_id; /* as JSON */
	struct wire_out o;
	/* Of a request that waits: in its own memory. */
	struct str env, key;
	int64_t after, limit;
	struct hub_failure failure;
	struct arena *arena;
	bool (*fn)(struct command_run *r);
};

/* A request; false: f says what is wrong. */
typedef bool (*command_fn)(struct command_run *r);

/*
 * command_fail(r, error, message): It is rejected; message NULL: that of the
 * error.  Returns false, as a request that is.
 * command_invalid(r, error): For what is wrong at a path.
 */
bool command_fail(
    struct command_run *r, enum hub_error error, const char *message);
bool command_invalid(struct command_run *r, const char *error);

/* command_text(r, key): The text of a member of the request's data; absent:
 * there is none. */
struct str command_text(struct command_run *r, const char *key);

/*
 * command_begin(r): The outcome, up to its members, which are to follow:
 * command_put(r, key, value), command_put_count(), command_put_flag(), or by
 * r->o.
 * command_end(r): Send it.  Returns true.
 */
void command_begin(struct command_run *r);
void command_put(struct command_run *r, const char *key, struct str value);
void command_put_count(struct command_run *r, const char *key, size_t n);
void command_put_flag(struct command_run *r, const char *key, bool is);
bool command_end(struct command_run *r);

/*
 * command_later(r, fn): Run fn in a fiber, with env, key, after and limit of
 * r; its failure is sent to the client.
 */
bool command_later(struct command_run *r, command_fn fn);

/* ---- command_room.c, command_list.c ---- */

/* Requests, by their names. */
bool command_get_members(struct command_run *r);
bool command_join(struct command_run *r);
bool command_leave(struct command_run *r);
bool command_get_history(struct command_run *r);
bool command_get_environments(struct command_run *r);
bool command_get_server_stats(struct command_run *r);

#endif /* !STAR_HUB_COMMAND_H */
