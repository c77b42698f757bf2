#include "testkit/fake_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
fake_mem0_authorized(struct fake_store *f, struct fake_store_call *q)
{
	char want[256];

	if (f->old || f->key == NULL)
		return true;
	snprintf(want, sizeof(want), "\r\nX-API-Key: %s\r\n", f->key);
	if (strcasestr(q->head, want) != NULL)
		return true;
	/* A key is not accepted as a dashboard session. */
	fake_store_reject(q, 401, "detail", "Invalid or expired token.");
	return false;
}

/* Whether a row has the given ids; "" matches any. */
static bool
fake_mem0_matches(const json_t *row, const char *user, const char *agent)
{
	return (user[0] == '\0' ||
		   strcmp(fake_store_text(row, "user_id"), user) == 0) &&
	    (agent[0] == '\0' ||
		strcmp(fake_store_text(row, "agent_id"), agent) == 0);
}

static bool
fake_mem0_has_scope(
    struct fake_store_call *q, const char *user, const char *agent)
{
	if (user[0] == '\0' && agent[0] == '\0') {
		fake_store_reject(
		    q, 400, "detail", "At least one identifier is required.");
		return false;
	}
	if (strpbrk(user, " \t") != NULL || strpbrk(agent, " \t") != NULL) {
		fake_store_reject(q, 400, "detail", "whitespace in an id");
		return false;
	}
	return true;
}

static void
fake_mem0_add(struct fake_store *f, struct fake_store_call *q)
{
	const json_t *message =
	    json_array_get(json_object_get(q->body, "messages"), 0);
	const char *text = fake_store_text(message, "content");
	char id[40];

	if (text[0] == '\0') {
		q->status = 422;
		q->reply = json_pack("{s[{ss}]}", "detail", "msg", "missing");
		return;
	}
	if (!fake_mem0_has_scope(q, fake_store_text(q->body, "user_id"),
		fake_store_text(q->body, "agent_id")))
		return;
	/*
	 * Without infer:false Mem0 would store what a model makes of the text.
	 */
	if (json_is_true(json_object_get(q->body, "infer")) ||
	    json_object_get(q->body, "infer") == NULL) {
		q->reply = json_pack("{s[]}", "results");
		return;
	}
	fake_store_uuid(f, id);
	json_array_append_new(f->rows,
	    json_pack("{sssssssssOss}", "id", id, "memory", text, "user_id",
		fake_store_text(q->body, "user_id"), "agent_id",
		fake_store_text(q->body, "agent_id"), "metadata",
		json_object_get(q->body, "metadata"), "created_at",
		"2026-11-01T08:00:00+00:00"));
	q->reply = json_pack("{s[{ssssss}]}", "results", "id", id, "memory",
	    text, "event", "ADD");
}

/* Insert a copy of row by its score. */
static void
fake_mem0_rank(json_t *found, json_t *row, double score)
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

static void
fake_mem0_search(struct fake_store *f, struct fake_store_call *q)
{
	const json_t *filters = json_object_get(q->body, "filters");
	const char *user = fake_store_text(q->body, "user_id");
	const char *agent = fake_store_text(q->body, "agent_id");
	json_t *top = json_object_get(q->body, "top_k");
	json_t *floor = json_object_get(q->body, "threshold");
	size_t i, k = top != NULL ? (size_t)json_integer_value(top) : 20;
	double least = floor != NULL ? json_number_value(floor) : 0.1, score;
	json_t *found = json_array(), *row;

	if (!f->old && user[0] == '\0')
		user = fake_store_text(filters, "user_id");
	if (!f->old && agent[0] == '\0')
		agent = fake_store_text(filters, "agent_id");
	if (f->old) {
		k = 100;
		least = 0;
	}
	if (!fake_mem0_has_scope(q, user, agent)) {
		json_decref(found);
		return;
	}
	json_array_foreach (f->rows, i, row) {
		score = fake_store_similarity(fake_store_text(q->body, "query"),
		    fake_store_text(row, "memory"));
		if (fake_mem0_matches(row, user, agent) && score >= least)
			fake_mem0_rank(found, row, score);
	}
	while (json_array_size(found) > k)
		json_array_remove(found, json_array_size(found) - 1);
	/* Old servers responded with the bare list. */
	q->reply = f->old ? found : json_pack("{so}", "results", found);
}

static void
fake_mem0_list(struct fake_store *f, struct fake_store_call *q)
{
	char user[256], agent[256], top[32];
	json_t *found, *row;
	size_t i, k;

	(void)fake_store_param(q, "user_id", user, sizeof(user));
	(void)fake_store_param(q, "agent_id", agent, sizeof(agent));
	k = fake_store_param(q, "top_k", top, sizeof(top))
	    ? (size_t)strtoul(top, NULL, 10)
	    : 20;
	if (!fake_mem0_has_scope(q, user, agent))
		return;
	if (k > 1000) {
		fake_store_reject(q, 422, "detail", "top_k");
		return;
	}
	found = json_array();
	json_array_foreach (f->rows, i, row)
		if (fake_mem0_matches(row, user, agent) &&
		    json_array_size(found) < k)
			json_array_append(found, row);
	q->reply = json_pack("{so}", "results", found);
}

/* All that match, but at most 100 at a time. */
static void
fake_mem0_delete_all(struct fake_store *f, struct fake_store_call *q)
{
	char user[256], agent[256];
	size_t i = 0, n = 0;

	(void)fake_store_param(q, "user_id", user, sizeof(user));
	(void)fake_store_param(q, "agent_id", agent, sizeof(agent));
	if (!fake_mem0_has_scope(q, user, agent))
		return;
	while (i < json_array_size(f->rows) && n < 100) {
		if (fake_mem0_matches(
			json_array_get(f->rows, i), user, agent)) {
			json_array_remove(f->rows, i);
			n++;
		} else {
			i++;
		}
	}
	q->reply =
	    json_pack("{ss}", "message", "All relevant memories deleted");
}

static void
fake_mem0_one(struct fake_store *f, struct fake_store_call *q, const char *id)
{
	json_t *row = NULL;
	size_t i;

	json_array_foreach (f->rows, i, row)
		if (strcmp(fake_store_text(row, "id"), id) == 0)
			break;
	if (strcmp(q->method, "GET") == 0) {
		if (i < json_array_size(f->rows))
			q->reply = json_incref(row);
	} else if (strcmp(q->method, "DELETE") == 0) {
		json_array_remove(f->rows, i);
		q->reply =
		    json_pack("{ss}", "message", "Memory deleted successfully");
	} else {
		fake_store_reject(q, 405, "detail", "Method Not Allowed");
	}
}

static void
fake_mem0_handle(struct fake_store *f, struct fake_store_call *q)
{
	bool post = strcmp(q->method, "POST") == 0;

	if (!fake_mem0_authorized(f, q))
		return;
	if (post && strcmp(q->path, "/memories") == 0)
		fake_mem0_add(f, q);
	else if (post && strcmp(q->path, "/search") == 0)
		fake_mem0_search(f, q);
	else if (!post && strcmp(q->path, "/memories") == 0)
		strcmp(q->method, "GET") == 0 ? fake_mem0_list(f, q)
					      : fake_mem0_delete_all(f, q);
	else if (strncmp(q->path, "/memories/", 10) == 0 &&
	    q->path[10] != '\0' && strchr(q->path + 10, '/') == NULL)
		fake_mem0_one(f, q, q->path + 10);
	else
		fake_store_reject(q, 404, "detail", "Not Found");
}

void
fake_mem0_serve(struct raw_server *p, int fd)
{
	fake_store_serve(p, fd, fake_mem0_handle);
}
