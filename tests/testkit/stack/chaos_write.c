/*
 * What a client of the load writes besides turns.  Each record has one writer,
 * who writes it one time after the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/stack/chaos_client.h"

#define PROFILE_KEYS 3
/* A session can be ended within this time, faults included. */
#define END_MS 120000

int
client_request(struct chaos_client *c, const char *method, const char *path,
    json_t *body, json_t **json)
{
	struct chaos_http r = { .method = method,
		.path = path,
		.body = body,
		.timeout_ms = CHAOS_CALL_MS };
	int status = chaos_http(c->port, &r, &c->out);

	client_verify(c, &r, status);
	if (json != NULL)
		*json = status == 200 ? json_loadb(c->out.p, c->out.n, 0, NULL)
				      : NULL;
	json_decref(body);
	return status;
}

/* Record an attempt to write, and that it is to be read back. */
static int
client_begin_write(
    struct chaos_client *c, const char *record, const char *value)
{
	size_t i;

	for (i = 0; i < c->n_records; i++)
		if (strcmp(c->records[i], record) == 0)
			break;
	if (i == c->n_records) {
		c->records =
		    mem_realloc(c->records, (i + 1) * sizeof(*c->records));
		c->records[c->n_records++] = mem_strdup(record);
	}
	return chaos_write(c->h, chaos_now(), record, value);
}

/* A write was acknowledged, or its status says that it failed. */
static void
client_end_write(struct chaos_client *c, int write, int status)
{
	char text[100];

	if (status == 200)
		chaos_written(c->h, chaos_now(), write);
	else if (status != 0 && status < 500 && status != 429) {
		snprintf(text, sizeof(text), "client %d: a write got %d",
		    c->number, status);
		chaos_wrong(c->h, chaos_now(), text);
	}
}

static void
client_write_profile(struct chaos_client *c)
{
	char path[100], record[80], key[24], value[24];
	int write;

	snprintf(key, sizeof(key), "k%d_%u", c->number,
	    client_random(c, PROFILE_KEYS));
	snprintf(value, sizeof(value), "v%d", c->words++);
	snprintf(record, sizeof(record), "profile %s %s", c->user, key);
	snprintf(path, sizeof(path), "/v1/users/%s/profile", c->user);
	write = client_begin_write(c, record, value);
	client_end_write(c, write,
	    client_request(c, "PATCH", path,
		json_pack("{s{ss}}", "user_profile", key, value), NULL));
}

/* Of its places for souls, take one: create its soul, or delete it. */
static void
client_write_soul(struct chaos_client *c)
{
	struct chaos_made *s = &c->souls[client_random(c, CHAOS_SOULS)];
	char record[100], path[200];
	int write, status;
	json_t *j = NULL;

	if (s->id[0] != '\0') {
		snprintf(record, sizeof(record), "soul %s", s->name);
		snprintf(path, sizeof(path), "/v1/souls/%s?user_id=%s", s->id,
		    c->user);
		write = client_begin_write(c, record, "");
		status = client_request(c, "DELETE", path, NULL, NULL);
		/* Deleted by an attempt whose response was lost. */
		client_end_write(c, write, status == 404 ? 200 : status);
		if (status == 200 || status == 404)
			s->id[0] = '\0';
		return;
	}
	snprintf(s->name, sizeof(s->name), "soul-%d-%d", c->number, c->words++);
	snprintf(record, sizeof(record), "soul %s", s->name);
	write = client_begin_write(c, record, "1");
	status = client_request(c, "POST", "/v1/souls",
	    json_pack("{ssssss}", "user_id", c->user, "name", s->name,
		"mbti_type", "INTJ"),
	    &j);
	client_end_write(c, write, status);
	snprintf(s->id, sizeof(s->id), "%s", tk_find_text(j, "soul_id"));
	json_decref(j);
}

static void
client_write_binding(struct chaos_client *c)
{
	const char *soul = c->bound[client_random(c, 2)];
	char record[80];
	int write;

	snprintf(record, sizeof(record), "binding %s", c->terminal);
	write = client_begin_write(c, record, soul);
	client_end_write(c, write,
	    client_request(c, "POST", "/v1/souls/select",
		json_pack("{ssssss}", "user_id", c->user, "terminal_id",
		    c->terminal, "soul_id", soul),
		NULL));
}

static void
client_add_ended(struct chaos_client *c, const char *session)
{
	struct chaos_ended *e;

	c->ended = mem_realloc(c->ended, (c->n_ended + 1) * sizeof(*c->ended));
	e = &c->ended[c->n_ended++];
	snprintf(e->session, sizeof(e->session), "%s", session);
	snprintf(e->last, sizeof(e->last), "%s", c->last);
}

/* A session of one turn, which becomes a memory when it is idle. */
static void
client_write_fact(struct chaos_client *c)
{
	char session[32], name[24], text[100], record[100];
	int write;

	snprintf(session, sizeof(session), "f-%d-%d", c->number, c->words);
	snprintf(name, sizeof(name), "Cat%dX%dX", c->number, c->words++);
	snprintf(text, sizeof(text), "我养了一只叫%s的猫", name);
	snprintf(record, sizeof(record), "memory %s", name);
	/* Otherwise nobody knows whether there will be a memory. */
	if (!client_turn(c, session, text, CLIENT_PLAIN))
		return;
	write = client_begin_write(c, record, "1");
	chaos_written(c->h, chaos_now(), write);
	client_add_ended(c, session);
}

void
client_write(struct chaos_client *c)
{
	switch (client_random(c, 4)) {
	case 0:
		client_write_profile(c);
		break;
	case 1:
		client_write_fact(c);
		break;
	case 2:
		if (c->first)
			client_write_binding(c);
		break;
	default:
		client_write_soul(c);
	}
}

static void
client_delete_session(struct chaos_client *c)
{
	char path[100], record[60];
	int write, status;

	chaos_forget(c->h, c->session);
	snprintf(record, sizeof(record), "session %s", c->session);
	snprintf(path, sizeof(path), "/v1/sessions/%s?user_id=%s", c->session,
	    c->user);
	write = client_begin_write(c, record, "");
	status = client_request(c, "DELETE", path, NULL, NULL);
	/* Without any turn there is none. */
	client_end_write(c, write, status == 404 ? 200 : status);
}

void
client_end_session(struct chaos_client *c)
{
	int64_t until = chaos_now() + END_MS;

	if (!c->unknown && client_random(c, 6) == 0) {
		client_delete_session(c);
		return;
	}
	/* It runs when those before it have ended, and Redis has replicas. */
	do {
		if (client_turn(c, c->session, "再见", CLIENT_STREAM)) {
			client_add_ended(c, c->session);
			return;
		}
	} while (chaos_now() < until);
	chaos_wrong(c->h, chaos_now(), "a session cannot be ended");
}
