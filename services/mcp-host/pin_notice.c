#include "pin_notice.h"

#include <stdlib.h>

#include "catalogue.h"
#include "context.h"
#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "svc/svc.h"
#include "svc/system_notice.h"
#include "tool/tool_digest.h"
#include "tool_server.h"
#include "toolbox.h"

struct pin_notices {
	struct host *host;
	struct map *sent; /* digests */
	struct metric *broken;
};

struct pin_notices *
pin_notices_new(struct host *h)
{
	struct pin_notices *n = mem_zalloc(sizeof(*n));

	n->host = h;
	n->sent = map_new();
	n->broken = metric_counter(svc_metrics(h->svc),
	    "soul_mcp_pin_broken_total",
	    "Tools that users had allowed and whose definition has changed.",
	    NULL);
	return n;
}

void
pin_notices_free(struct pin_notices *n)
{
	if (n == NULL)
		return;
	map_free(n->sent);
	free(n);
}

void
pin_notice_send(
    struct pin_notices *n, struct str user, const struct toolbox_tool *t)
{
	const struct str parts[] = { user, str_of(t->server->conf->name),
		t->tool->name, str_of(t->definition) };
	struct svc_notice notice = { .level =
					 WIRE_SYSTEM_NOTIFICATION_LEVEL_WARNING,
		.code = "MCP_TOOL_CHANGED",
		.user_id = user };
	struct buf text = BUF_INIT(1024);
	char digest[TOOL_DIGEST_MAX];

	tool_digest(parts, NELEM(parts), digest);
	if (map_get(n->sent, str_of(digest)) != NULL)
		return;
	if (map_len(n->sent) >= PIN_NOTICES_MAX) {
		map_free(n->sent);
		n->sent = map_new();
	}
	(void)map_put(n->sent, str_of(digest), n);
	metric_add(n->broken, 1);
	buf_printf(&text,
	    "The MCP server %s has changed its tool %.*s: it is asked for "
	    "again before each call",
	    t->server->conf->name, STR_ARG(t->name));
	notice.message = buf_str(&text);
	notice.id = str_of(digest);
	svc_notify(n->host->svc, &notice, NULL);
	buf_free(&text);
}
