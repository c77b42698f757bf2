/*
 * Files: which one a path names, in which encoding, and its header fields.
 */
#include "httpd/httpd_files.h"

#include "core/buf.h"
#include "core/str.h"
#include "http/header.h"
#include "httpd/httpd_internal.h"

/*
 * Pages may load only from here, and make no markup from text: every kind of
 * injection that a browser can prevent, it does.
 */
#define FILE_FIELDS                                                          \
	"Content-Security-Policy: default-src 'none'; script-src 'self'; "   \
	"style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " \
	"manifest-src 'self'; base-uri 'none'; form-action 'none'; "         \
	"frame-ancestors 'none'; require-trusted-types-for 'script'; "       \
	"trusted-types soul\r\n"                                             \
	"X-Content-Type-Options: nosniff\r\n"                                \
	"Referrer-Policy: no-referrer\r\n"                                   \
	"Cross-Origin-Opener-Policy: same-origin\r\n"                        \
	"Cross-Origin-Resource-Policy: same-origin\r\n"                      \
	"Permissions-Policy: camera=(), geolocation=(), microphone=(), "     \
	"payment=(), usb=()\r\n"

const struct httpd_file *
file_find(const struct httpd_file *files, size_t n, struct str path)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_eq(str_of(files[i].path), path))
			return &files[i];
	return NULL;
}

bool
file_accepts_gzip(struct str accept)
{
	while (accept.p != NULL) {
		struct str params = str_split(&accept, ',');
		struct str coding = str_trim(str_split(&params, ';'));
		double q = 1;

		if (!str_eq_nocase(coding, STR("gzip")))
			continue;
		params = params.p != NULL ? str_trim(params) : STR("");
		if (!str_starts(params, STR("q=")))
			return true;
		params = (struct str){ params.p + 2, params.n - 2 };
		return str_to_f64(params, 0, 1, &q) == RC_OK && q > 0;
	}
	return false;
}

static struct str
file_opaque_tag(struct str tag)
{
	tag = str_trim(tag);
	if (str_starts(tag, STR("W/")))
		return (struct str){ tag.p + 2, tag.n - 2 };
	return tag;
}

bool
file_is_cached(const struct httpd_file *f, struct str if_none_match)
{
	while (if_none_match.p != NULL) {
		struct str tag = str_split(&if_none_match, ',');

		if (str_eq(str_trim(tag), STR("*")) ||
		    str_eq(
			file_opaque_tag(tag), file_opaque_tag(str_of(f->etag))))
			return true;
	}
	return false;
}

void
file_put_fields(const struct httpd_file *f, bool gzip, struct buf *b)
{
	buf_printf(b, "ETag: %s\r\n", f->etag);
	buf_printf(b, "Cache-Control: %s\r\n",
	    f->immutable ? "public, max-age=31536000, immutable" : "no-cache");
	buf_puts(b, "Vary: Accept-Encoding\r\n");
	if (gzip)
		buf_puts(b, "Content-Encoding: gzip\r\n");
	buf_puts(b, FILE_FIELDS);
}
