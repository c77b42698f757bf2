#include "user_servers.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "core/arena.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "instance.h"
#include "state/mcp.h"
#include "svc/svc.h"
#include "tool/tool_digest.h"
#include "tool_server.h"
#include "toolbox.h"
#include "user_server.h"

#define ARENA_MAX (4UL * 1024 * 1024)
#define LABEL     "user"

struct user_servers {
	struct host *host;
	struct map *by_key;           /* digest of user, name and record */
	struct tool_server_list list; /* the one that was used last first */
	size_t n;
};

struct user_servers *
user_servers_new(struct host *h)
{
	struct user_servers *u = mem_zalloc(sizeof(*u));

	u->host = h;
	u->by_key = map_new();
	LIST_INIT(&u->list);
	return u;
}

static void
servers_remove(struct user_servers *u, struct tool_server *s)
{
	(void)map_del(u->by_key, str_of(s->key));
	LIST_REMOVE(s, link);
	u->n--;
	s->retired = true;
	if (!u->host->stopping)
		instances_retire(u->host, s);
	tool_server_unref(s);
}

void
user_servers_free(struct user_servers *u)
{
	if (u == NULL)
		return;
	while (!LIST_EMPTY(&u->list))
		servers_remove(u, LIST_FIRST(&u->list));
	map_free(u->by_key);
	free(u);
}

static void
servers_make_room(struct user_servers *u)
{
	struct tool_server *s, *last = NULL;

	if (u->n < USER_SERVERS_MAX)
		return;
	LIST_FOREACH (s, &u->list, link)
		last = s;
	servers_remove(u, last);
}

static struct tool_server *
servers_make(struct user_servers *u, const struct user_server_id *id,
    struct str stored, const char key[TOOL_DIGEST_MAX])
{
	struct mcp_config *config;
	struct tool_server *s;
	enum rc rc = user_server_config(u->host->secrets, id, stored, &config);

	if (rc != RC_OK) {
		log_warn("mcp.user_server", LOG_V("user", id->user),
		    LOG_V("server", id->name), LOG_RC(rc));
		return NULL;
	}
	servers_make_room(u);
	s = tool_server_new(
	    mcp_config_at(config, 0), config, LABEL, svc_metrics(u->host->svc));
	mcp_config_unref(config);
	memcpy(s->key, key, sizeof(s->key));
	str_copy(id->user, s->user, sizeof(s->user));
	LIST_INSERT_HEAD(&u->list, s, link);
	(void)map_put(u->by_key, str_of(s->key), s);
	u->n++;
	return s;
}

static struct tool_server *
servers_find(
    struct user_servers *u, const struct user_server_id *id, struct str stored)
{
	const struct str parts[] = { id->user, id->name, stored };
	char key[TOOL_DIGEST_MAX];
	struct tool_server *s;

	tool_digest(parts, NELEM(parts), key);
	s = map_get(u->by_key, str_of(key));
	if (s == NULL)
		return servers_make(u, id, stored, key);
	LIST_REMOVE(s, link);
	LIST_INSERT_HEAD(&u->list, s, link);
	return s;
}

static bool
servers_has_name(const struct user_tools *t, struct str name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (str_eq(name, str_of(t->servers[i]->conf->name)))
			return true;
	return false;
}

/* The user's own, or an entry of the catalogue; NULL: it cannot be used. */
static struct tool_server *
servers_get(struct user_servers *u, const struct user_server_id *id,
    struct str stored, struct arena *a)
{
	struct user_server_entry e;

	if (user_server_entry(stored, a, &e) == RC_OK && e.name.n > 0)
		return host_entry(u->host, id->user, e.name);
	return servers_find(u, id, stored);
}

enum rc
user_servers_add(struct user_servers *u, struct str user, struct user_tools *t)
{
	struct arena *a = arena_new(ARENA_MAX);
	struct mcp_user_server *list;
	struct tool_server *s;
	size_t i, n;
	enum rc rc = mcp_servers_read(u->host->state, user, a, &list, &n);

	for (i = 0; rc == RC_OK && i < n && t->n < TOOLBOX_SERVERS_MAX; i++) {
		const struct user_server_id id = { user, list[i].name };

		if (servers_has_name(t, list[i].name))
			continue;
		s = servers_get(u, &id, list[i].json, a);
		if (s != NULL)
			t->servers[t->n++] = tool_server_ref(s);
	}
	arena_free(a);
	return rc;
}

void
user_servers_forget(struct user_servers *u, struct str user, struct str name)
{
	struct tool_server *s, *next;

	for (s = LIST_FIRST(&u->list); s != NULL; s = next) {
		next = LIST_NEXT(s, link);
		if (str_eq(user, str_of(s->user)) &&
		    str_eq(name, str_of(s->conf->name)))
			servers_remove(u, s);
	}
}
