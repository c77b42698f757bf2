#include "config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "context.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "environment.h"
#include "instance.h"
#include "mcp_config.h"
#include "svc/svc.h"
#include "tool_server.h"

#define POLL_MS    2000
#define ERRORS_MAX (64UL * 1024)

struct config_file {
	struct host *host;
	enum config_file_kind kind;
	const char *path;
	struct mcp_config **config;       /* what it has */
	struct tool_server_list *servers; /* the same */
	struct loop_timer timer;
	struct stat seen; /* zero: there was no file */
};

/* The variable with the path of a file, and the event of a new one. */
static const struct {
	const char *variable, *event;
} config_files[] = {
	[CONFIG_FILE_SERVERS] = { "MCP_CONFIG", "mcp.config" },
	[CONFIG_FILE_CATALOGUE] = { "MCP_CATALOGUE", "mcp.catalogue" },
};

static enum rc
config_file_read(enum config_file_kind kind, const char *path, struct buf *text,
    struct buf *errors)
{
	/* Opening a FIFO must not block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char bytes[8192];
	ssize_t n = -1;

	while (fd != -1 && (n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_put(text, bytes, (size_t)n);
	if (n == -1)
		buf_printf(errors, "%s: %s: %s\n", config_files[kind].variable,
		    path, strerrordesc_np(errno));
	if (fd != -1)
		close(fd);
	return n == -1 ? RC_INVALID : RC_OK;
}

/* Each line gets the file before it. */
static void
config_file_put_errors(enum config_file_kind kind, const char *path,
    struct str lines, struct buf *errors)
{
	struct str line;

	while (lines.n > 0) {
		line = str_split(&lines, '\n');
		buf_printf(errors, "%s: %s: %.*s\n",
		    config_files[kind].variable, path, STR_ARG(line));
	}
}

enum rc
config_file_load(enum config_file_kind kind, const char *path,
    struct mcp_config **out, struct buf *errors)
{
	static const struct mcp_variables vars = { environment_get, NULL };
	struct buf text = BUF_INIT(MCP_CONFIG_MAX + 1);
	struct buf lines = BUF_INIT(ERRORS_MAX);
	enum rc rc;

	*out = NULL;
	if (path[0] == '\0')
		return RC_OK;
	rc = config_file_read(kind, path, &text, errors);
	if (rc == RC_OK && kind == CONFIG_FILE_CATALOGUE)
		rc = mcp_config_read_catalogue(
		    buf_str(&text), &vars, out, &lines);
	else if (rc == RC_OK)
		rc = mcp_config_read(buf_str(&text), &vars, out, &lines);
	config_file_put_errors(kind, path, buf_str(&lines), errors);
	buf_free(&text);
	buf_free(&lines);
	return rc == RC_OK ? RC_OK : RC_INVALID;
}

/* ---- what changes ---- */

static struct tool_server *
config_file_find(const struct config_file *f, const char *key)
{
	struct tool_server *s;

	LIST_FOREACH (s, f->servers, link)
		if (strcmp(s->key, key) == 0)
			return s;
	return NULL;
}

static void
config_file_apply(struct config_file *f, struct mcp_config *config)
{
	struct host *h = f->host;
	struct tool_server_list servers = LIST_HEAD_INITIALIZER(servers);
	struct tool_server *s;

	/* From the last to the first, so that they are in order. */
	for (size_t i = mcp_config_n(config); i-- > 0;) {
		const struct mcp_server *conf = mcp_config_at(config, i);

		s = config_file_find(f, conf->key);
		if (s != NULL) {
			LIST_REMOVE(s, link);
			tool_server_update(s, conf, config);
		} else {
			s = tool_server_new(
			    conf, config, NULL, svc_metrics(h->svc));
			s->entry = f->kind == CONFIG_FILE_CATALOGUE;
		}
		LIST_INSERT_HEAD(&servers, s, link);
	}
	while ((s = LIST_FIRST(f->servers)) != NULL) {
		LIST_REMOVE(s, link);
		instances_retire(h, s);
		tool_server_unref(s);
	}
	while ((s = LIST_FIRST(&servers)) != NULL) {
		LIST_REMOVE(s, link);
		LIST_INSERT_HEAD(f->servers, s, link);
	}
	mcp_config_unref(*f->config);
	*f->config = config;
}

/* ---- polling ---- */

static bool
config_file_changed(struct config_file *f)
{
	struct stat st;

	if (stat(f->path, &st) != 0)
		memset(&st, 0, sizeof(st));
	if (st.st_ino == f->seen.st_ino && st.st_dev == f->seen.st_dev &&
	    st.st_size == f->seen.st_size &&
	    st.st_ctim.tv_sec == f->seen.st_ctim.tv_sec &&
	    st.st_ctim.tv_nsec == f->seen.st_ctim.tv_nsec)
		return false;
	f->seen = st;
	return true;
}

static enum rc
config_file_update(struct config_file *f)
{
	struct buf errors = BUF_INIT(ERRORS_MAX);
	const char *event = config_files[f->kind].event;
	struct mcp_config *config;
	enum rc rc = config_file_load(f->kind, f->path, &config, &errors);

	if (rc == RC_OK) {
		config_file_apply(f, config);
		log_info(event, LOG_I("servers", mcp_config_n(config)));
	} else {
		log_error(event, LOG_V("why", buf_str(&errors)));
	}
	buf_free(&errors);
	return rc;
}

static void
config_file_on_timer(void *arg)
{
	struct config_file *f = arg;

	loop_timer_set(f->host->loop, &f->timer,
	    mono_add_ms(clock_mono(), POLL_MS), config_file_on_timer, f);
	if (config_file_changed(f) && config_file_update(f) == RC_OK)
		host_on_servers(f->host);
}

struct config_file *
config_file_new(struct host *h, enum config_file_kind kind)
{
	struct config_file *f = mem_zalloc(sizeof(*f));
	bool catalogue = kind == CONFIG_FILE_CATALOGUE;

	f->host = h;
	f->kind = kind;
	f->path = catalogue ? h->conf->catalogue : h->conf->config;
	f->config = catalogue ? &h->catalogue : &h->config;
	f->servers = catalogue ? &h->entries : &h->servers;
	if (f->path[0] == '\0')
		return f;
	(void)config_file_changed(f);
	if (config_file_update(f) != RC_OK) {
		free(f);
		return NULL;
	}
	loop_timer_set(h->loop, &f->timer, mono_add_ms(clock_mono(), POLL_MS),
	    config_file_on_timer, f);
	return f;
}

void
config_file_free(struct config_file *f)
{
	if (f == NULL)
		return;
	loop_timer_cancel(f->host->loop, &f->timer);
	free(f);
}
