/*
 * Files that are looked at again and again.
 */
#include "auth/auth_internal.h"

#include <string.h>

#include "auth/auth.h"
#include "core/log.h"

static enum rc
take(struct auth_source *s)
{
	struct buf json = BUF_INIT(AUTH_FILE_MAX);
	const char *why = "";
	enum rc rc = auth_file_read(s->path, &json, &why);

	s->err = (struct wire_err){ 0 };
	if (rc != RC_OK)
		str_copy(str_of(why), s->err.why, sizeof(s->err.why));
	else
		rc = s->kind->read(buf_str(&json), &s->fresh, &s->err);
	buf_free(&json);
	return rc;
}

void
auth_source_poll(struct auth_source *s)
{
	struct auth_stamp now;

	s->read = false;
	if (s->path[0] == '\0')
		return;
	/* Before it is read: what changes meanwhile is read again. */
	now = auth_file_stamp(s->path);
	if (s->seen.there && auth_stamp_equal(&now, &s->seen))
		return;
	/* One that is missing is told once. */
	if (!now.there && !s->seen.there && s->rc != RC_OK)
		return;
	s->seen = now;
	s->rc = take(s);
	s->read = true;
}

bool
auth_source_apply(struct auth_source *s)
{
	char why[WIRE_ERR_TEXT_MAX];
	bool is = s->fresh != NULL;

	if (!s->read)
		return false;
	metric_set(s->ok, s->rc == RC_OK);
	if (is) {
		if (s->content != NULL)
			s->kind->drop(s->content);
		s->content = s->fresh;
		s->fresh = NULL;
		log_info("auth.file_read", LOG_S("variable", s->kind->variable),
		    LOG_S("file", s->path));
	} else {
		wire_err_text(&s->err, why, sizeof(why));
		log_error("auth.file_unusable",
		    LOG_S("variable", s->kind->variable),
		    LOG_S("file", s->path), LOG_S("why", why),
		    LOG_S("known_before",
			s->content != NULL ? "kept" : "nothing"));
	}
	return is;
}

void
auth_source_free(struct auth_source *s)
{
	if (s->content != NULL)
		s->kind->drop(s->content);
	if (s->fresh != NULL)
		s->kind->drop(s->fresh);
}
