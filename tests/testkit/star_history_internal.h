/* star_history_internal: the data of a history. */
#ifndef TESTKIT_STAR_HISTORY_INTERNAL_H
#define TESTKIT_STAR_HISTORY_INTERNAL_H

#include "testkit/star_history.h"

#define STAR_NEVER INT64_MAX

struct star_conn {
	int64_t opened, ended; /* STAR_NEVER: it has not */
	enum star_opened how;
	uint32_t session;    /* the how many-th of its client */
	bool silent_overdue; /* already reported */
};

struct star_client {
	struct star_conn *conn;
	size_t n, cap;
	uint32_t received, dropped, excused;
	int64_t dropped_at;
	int64_t newest;    /* message; -1: none */
	int env;           /* of which it is a member; -1: none */
	int64_t member_at; /* STAR_NEVER: not yet in this session */
	bool notified; /* its environment was notified that it is a member */
};

enum star_error { STAR_NO_ERROR, STAR_REJECTED, STAR_UNKNOWN };

struct star_message {
	int64_t at;
	int from, conn;
	int64_t before;    /* the sender's one before; -1: none */
	uint32_t first, n; /* deliveries */
	enum star_error error;
	bool broadcast, taken;
};

struct star_delivery {
	uint32_t message;
	int to;
	uint32_t order; /* of all that its recipient got, from 1; 0: missing */
	uint32_t session;
	bool expected;
};

/* A note about a fault, or about something wrong of no client. */
#define STAR_FAILURE (-1)
#define STAR_NOBODY  (-2)

struct star_note {
	int64_t at;
	int client;
	char *text;
};

struct star_history {
	struct star_client *client;
	size_t n;
	int64_t resume_ms;
	struct star_message *message;
	struct star_delivery *delivery;
	struct star_note *note;
	size_t n_messages, cap_messages, n_deliveries, cap_deliveries, n_notes,
	    cap_notes;
	struct star_counts counts;
};

#endif /* !TESTKIT_STAR_HISTORY_INTERNAL_H */
