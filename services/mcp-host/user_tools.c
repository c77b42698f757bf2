#include "user_tools.h"

#include "context.h"
#include "core/map.h"
#include "tool_server.h"
#include "user_servers.h"

/* Toolboxes that are shared: one for each set of servers that users have. */
#define TOOLBOXES_MAX 32
/* A list or call waits so long for the stored lists, within its deadline. */
#define FINDING_STEPS   10
#define FINDING_STEP_MS 20

static void
user_tools_add(struct user_tools *t, struct tool_server *s)
{
	if (t->n < TOOLBOX_SERVERS_MAX)
		t->servers[t->n++] = tool_server_ref(s);
}

struct str
user_tenant(struct str user)
{
	struct str rest = user, tenant = str_split(&rest, '/');

	return rest.p != NULL ? tenant : STR("");
}

static struct toolbox *
user_tools_box(struct host *h, const struct user_tools *t)
{
	char key[TOOL_DIGEST_MAX];
	struct toolbox *b;

	toolbox_key(t->servers, t->n, key);
	b = map_get(h->toolboxes, str_of(key));
	if (b != NULL)
		return toolbox_ref(b);
	if (map_len(h->toolboxes) >= TOOLBOXES_MAX)
		user_tools_forget(h);
	b = toolbox_new(t->servers, t->n);
	(void)map_put(h->toolboxes, str_of(key), b);
	return toolbox_ref(b);
}

enum rc
user_tools_get(struct host *h, struct str user, struct user_tools *out)
{
	struct tool_server *s;

	enum rc rc;

	out->n = 0;
	out->box = NULL;
	/* What is stored is known in a moment. */
	for (int i = 0; h->finding > 0 && i < FINDING_STEPS; i++)
		(void)host_wait(h, NULL, FINDING_STEP_MS);
	LIST_FOREACH (s, &h->servers, link)
		if (mcp_server_for(s->conf, user_tenant(user)))
			user_tools_add(out, s);
	rc = user_servers_add(h->user_servers, user, out);
	if (rc == RC_OK)
		out->box = user_tools_box(h, out);
	return rc;
}

void
user_tools_free(struct user_tools *t)
{
	for (size_t i = 0; i < t->n; i++)
		tool_server_unref(t->servers[i]);
	t->n = 0;
	toolbox_unref(t->box);
	t->box = NULL;
}

void
user_tools_forget(struct host *h)
{
	struct toolbox *b;
	struct str key;
	size_t pos = 0;

	while ((b = map_next(h->toolboxes, &pos, &key)) != NULL) {
		(void)map_del(h->toolboxes, key);
		toolbox_unref(b);
		pos = 0;
	}
}
