/*
 * fake_mem0: a stand-in for a Mem0 server of one's own, as those of 2.0.1 and
 * later are, or with f->old as those of 2025 were: no key, ids beside the query
 * only, up to 100 found whatever was asked for.
 */
#ifndef FAKE_MEM0_H
#define FAKE_MEM0_H

#include "fake.h"

static inline bool
mem0_may(struct fake *f, struct fake_ask *q)
{
	char want[256];

	if (f->old || f->key == NULL)
		return true;
	snprintf(want, sizeof(want), "\r\nX-API-Key: %s\r\n", f->key);
	if (strcasestr(q->head, want) != NULL)
		return true;
	/* A key is no dashboard session. */
	fake_refuse(q, 401, "detail", "Invalid or expired token.");
	return false;
}

/* A row is of whom the three say, as far as they do. */
static inline bool
mem0_is(const json_t *row, const char *user, const char *agent)
{
	return (user[0] == '\0' ||
		   strcmp(fake_text(row, "user_id"), user) == 0) &&
	    (agent[0] == '\0' ||
		strcmp(fake_text(row, "agent_id"), agent) == 0);
}

static inline bool
mem0_known(struct fake_ask *q, const char *user, const char *agent)
{
	if (user[0] == '\0' && agent[0] == '\0') {
		fake_refuse(
		    q, 400, "detail", "At least one identifier is required.");
		return false;
	}
	if (strpbrk(user, " \t") != NULL || strpbrk(agent, " \t") != NULL) {
		fake_refuse(q, 400, "detail", "whitespace in an id");
		return false;
	}
	return true;
}

static inline void
mem0_add(struct fake *f, struct fake_ask *q)
{
	const json_t *message =
	    json_array_get(json_object_get(q->body, "messages"), 0);
	const char *text = fake_text(message, "content");
	char id[40];

	if (text[0] == '\0') {
		q->status = 422;
		q->answer = json_pack("{s[{ss}]}", "detail", "msg", "missing");
		return;
	}
	if (!mem0_known(q, fake_text(q->body, "user_id"),
		fake_text(q->body, "agent_id")))
		return;
	/* Without infer:false a model would make something else of it. */
	if (json_is_true(json_object_get(q->body, "infer")) ||
	    json_object_get(q->body, "infer") == NULL) {
		q->answer = json_pack("{s[]}", "results");
		return;
	}
	fake_uuid(f, id);
	json_array_append_new(f->rows,
	    json_pack("{sssssssssOss}", "id", id, "memory", text, "user_id",
		fake_text(q->body, "user_id"), "agent_id",
		fake_text(q->body, "agent_id"), "metadata",
		json_object_get(q->body, "metadata"), "created_at",
		"2026-11-01T08:00:00+00:00"));
	q->answer = json_pack("{s[{ssssss}]}", "results", "id", id, "memory",
	    text, "event", "ADD");
}

/* Put a copy of row with its score where it belongs. */
static inline void
mem0_rank(json_t *found, json_t *row, double score)
{
	json_t *copy = json_copy(row);
	size_t i;

	json_object_set_new(copy, "score", json_real(score));
	for (i = 0; i < json_array_size(found); i++)
		if (json_real_value(json_object_get(
			json_array_get(found, i), "score")) < score)
			break;
	json_array_insert_new(found, i, copy);
}

static inline void
mem0_search(struct fake *f, struct fake_ask *q)
{
	const json_t *filters = json_object_get(q->body, "filters");
	const char *user = fake_text(q->body, "user_id");
	const char *agent = fake_text(q->body, "agent_id");
	json_t *top = json_object_get(q->body, "top_k");
	json_t *floor = json_object_get(q->body, "threshold");
	size_t i, k = top != NULL ? (size_t)json_integer_value(top) : 20;
	double least = floor != NULL ? json_number_value(floor) : 0.1, score;
	json_t *found = json_array(), *row;

	if (!f->old && user[0] == '\0')
		user = fake_text(filters, "user_id");
	if (!f->old && agent[0] == '\0')
		agent = fake_text(filters, "agent_id");
	if (f->old) {
		k = 100;
		least = 0;
	}
	if (!mem0_known(q, user, agent)) {
		json_decref(found);
		return;
	}
	json_array_foreach (f->rows, i, row) {
		score = fake_like(
		    fake_text(q->body, "query"), fake_text(row, "memory"));
		if (mem0_is(row, user, agent) && score >= least)
			mem0_rank(found, row, score);
	}
	while (json_array_size(found) > k)
		json_array_remove(found, json_array_size(found) - 1);
	/* The old ones answered with the bare list. */
	q->answer = f->old ? found : json_pack("{so}", "results", found);
}

static inline void
mem0_list(struct fake *f, struct fake_ask *q)
{
	char user[256], agent[256], top[32];
	json_t *found, *row;
	size_t i, k;

	(void)fake_param(q, "user_id", user, sizeof(user));
	(void)fake_param(q, "agent_id", agent, sizeof(agent));
	k = fake_param(q, "top_k", top, sizeof(top))
	    ? (size_t)strtoul(top, NULL, 10)
	    : 20;
	if (!mem0_known(q, user, agent))
		return;
	if (k > 1000) {
		fake_refuse(q, 422, "detail", "top_k");
		return;
	}
	found = json_array();
	json_array_foreach (f->rows, i, row)
		if (mem0_is(row, user, agent) && json_array_size(found) < k)
			json_array_append(found, row);
	q->answer = json_pack("{so}", "results", found);
}

/* All that fit, but no more than 100 at a time. */
static inline void
mem0_delete_all(struct fake *f, struct fake_ask *q)
{
	char user[256], agent[256];
	size_t i = 0, n = 0;

	(void)fake_param(q, "user_id", user, sizeof(user));
	(void)fake_param(q, "agent_id", agent, sizeof(agent));
	if (!mem0_known(q, user, agent))
		return;
	while (i < json_array_size(f->rows) && n < 100) {
		if (mem0_is(json_array_get(f->rows, i), user, agent)) {
			json_array_remove(f->rows, i);
			n++;
		} else {
			i++;
		}
	}
	q->answer =
	    json_pack("{ss}", "message", "All relevant memories deleted");
}

static inline void
mem0_one(struct fake *f, struct fake_ask *q, const char *id)
{
	json_t *row = NULL;
	size_t i;

	json_array_foreach (f->rows, i, row)
		if (strcmp(fake_text(row, "id"), id) == 0)
			break;
	if (strcmp(q->method, "GET") == 0) {
		if (i < json_array_size(f->rows))
			q->answer = json_incref(row);
	} else if (strcmp(q->method, "DELETE") == 0) {
		json_array_remove(f->rows, i);
		q->answer =
		    json_pack("{ss}", "message", "Memory deleted successfully");
	} else {
		fake_refuse(q, 405, "detail", "Method Not Allowed");
	}
}

static inline void
mem0_handle(struct fake *f, struct fake_ask *q)
{
	bool post = strcmp(q->method, "POST") == 0;

	if (!mem0_may(f, q))
		return;
	if (post && strcmp(q->path, "/memories") == 0)
		mem0_add(f, q);
	else if (post && strcmp(q->path, "/search") == 0)
		mem0_search(f, q);
	else if (!post && strcmp(q->path, "/memories") == 0)
		strcmp(q->method, "GET") == 0 ? mem0_list(f, q)
					      : mem0_delete_all(f, q);
	else if (strncmp(q->path, "/memories/", 10) == 0 &&
	    q->path[10] != '\0' && strchr(q->path + 10, '/') == NULL)
		mem0_one(f, q, q->path + 10);
	else
		fake_refuse(q, 404, "detail", "Not Found");
}

static inline void
mem0_serve(struct peer *p, int fd)
{
	fake_serve(p, fd, mem0_handle);
}

#endif /* !FAKE_MEM0_H */
