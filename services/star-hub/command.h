/*
 * command: a request of a client to the hub, and its reply.
 */
#ifndef STAR_HUB_COMMAND_H
#define STAR_HUB_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "envelope.h"
#include "hub.h"
#include "wire/out.h"

/* Bytes of a list in a reply; what does not fit is left out. */
#define COMMAND_LIST_BYTES (768UL * 1024)
/* Requests of one client that wait for Redis, or other hubs. */
#define COMMAND_WAITING_MAX 16

/* A payload; values are as written, absent: not there. */
struct command {
	struct str type, stream, stream_type, action, id, data;
};

struct command_run {
	struct hub *h;
	struct client *c;
	struct hub_failure *f;
	struct command p;
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
 * command_fail(r, error, message), command_invalid(r, error): Return false.
 * command_member(json, key): A member of an object, as written; absent: there
 *     is none.
 * command_text(r, json): The text of a JSON string; absent: it is none.
 */
bool command_fail(
    struct command_run *r, enum hub_error error, const char *message);
bool command_invalid(struct command_run *r, const char *error);
struct str command_member(struct str json, struct str key);
struct str command_text(struct command_run *r, struct str json);

/*
 * The reply is what is put between the two; command_end() returns true.
 */
void command_begin(struct command_run *r);
bool command_end(struct command_run *r);
void command_put(struct command_run *r, const char *key, struct str value);
void command_put_count(struct command_run *r, const char *key, size_t n);
void command_put_flag(struct command_run *r, const char *key, bool is);

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
