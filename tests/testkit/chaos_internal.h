/* chaos_internal: the data of a history. */
#ifndef TESTKIT_CHAOS_INTERNAL_H
#define TESTKIT_CHAOS_INTERNAL_H

#include <pthread.h>

#include "core/map.h"
#include "testkit/chaos.h"

#define CHAOS_NONE (-1)

/* What is printed. */
struct chaos_entry {
	int64_t at;
	int input; /* CHAOS_NONE: of none */
	bool outage;
	char *text;
};

struct chaos_stored {
	char *role, *content, *turn_id;
};

struct chaos_logged {
	int64_t seq;
	char *turn_id, *type;
};

struct chaos_session {
	char *name;
	int *inputs;
	size_t n_inputs;
	struct chaos_stored *messages;
	size_t n_messages;
	struct chaos_logged *events;
	size_t n_events;
	bool deleted;
};

struct chaos_in {
	struct chaos_session *session;
	char *body; /* or NULL */
	int64_t first_at;
	int *attempts;
	size_t n_attempts;
	int done;      /* the attempt that was acknowledged, or CHAOS_NONE */
	int *commands; /* received for it: indexes of deliveries */
	size_t n_commands;
	int *turns; /* indexes of records */
	size_t n_turns;
};

struct chaos_attempt {
	int input;
	int64_t at, end_at, canceled_at; /* canceled_at -1: not canceled */
	bool ended;
	enum chaos_end end;
	char *turn_id, *reply;
	json_t *executed;
};

struct chaos_command {
	int64_t at;
	char *body, *request_id, *session;
	json_t *skills;
	int attempt; /* CHAOS_NONE: not seen on its way */
};

struct chaos_turn {
	char *id, *state;
	int attempt;
	bool started, ended, completed; /* by its events */
};

struct chaos_write {
	int64_t at;
	struct chaos_register *of;
	char *value;
	bool acknowledged;
};

struct chaos_register {
	char *name, *found; /* NULL: not read */
	int *writes;
	size_t n_writes;
};

struct chaos_window {
	int64_t from, to;
	bool held;
};

struct chaos_drop {
	int64_t at;
	char *body;
};

struct chaos {
	pthread_mutex_t lock;
	struct map *sessions, *turns_by_id, *registers;
	struct map *published; /* request id → int, an attempt */
	struct chaos_entry *entries;
	struct chaos_in *inputs;
	struct chaos_attempt *attempts;
	struct chaos_command *commands;
	struct chaos_turn **turns;
	struct chaos_write *writes;
	struct chaos_window *outages;
	struct chaos_drop *drops;
	char **wrong;
	size_t n_entries, n_inputs, n_attempts, n_commands, n_turns, n_writes,
	    n_outages, n_drops, n_wrong;
};

/* chaos_attempt_of(h, trace): By its trace id; CHAOS_NONE: of none. */
int chaos_attempt_of(const struct chaos *h, const char *trace);

#endif /* !TESTKIT_CHAOS_INTERNAL_H */
