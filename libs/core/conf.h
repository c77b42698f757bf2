/*
 * conf: configuration from the environment, one table of options per program.
 *
 * The value of an option is that of its variable; if it is unset or empty, the
 * content of the file named by <variable>_FILE, without a trailing newline;
 * otherwise the default.  A number or bool without a default must be set.
 * Nothing else in the suite calls getenv().
 */
#ifndef CORE_CONF_H
#define CORE_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

enum conf_kind {
	CONF_STR,    /* const char *, never NULL */
	CONF_SECRET, /* const char *, printed as *** */
	CONF_URL,    /* const char *, printed as url_redact() does */
	CONF_INT,    /* int64_t within [min, max] */
	CONF_F64,    /* double within [min, max] */
	CONF_BOOL    /* bool: on/off, true/false, yes/no, 1/0 */
};

struct conf_opt {
	const char *env; /* variable, upper case */
	enum conf_kind kind;
	size_t off;       /* offsetof() in the program's struct */
	const char *dflt; /* as text */
	int64_t min, max; /* of numbers; both 0: any */
	const char *help; /* one line; names the unit of a number */
};

/* For a row: member m of struct t. */
#define CONF_AT(t, m) .off = offsetof(struct t, m)

/*
 * conf_load(opts, n, cfg, errors):
 * Fill *cfg.  RC_INVALID if an option is not valid; it then has its default,
 * and errors a line for each with what is valid.  Texts in cfg are heap copies;
 * call conf_free() in either case.
 */
enum rc conf_load(const struct conf_opt *opts, size_t n, void *cfg,
    struct buf *errors) RC_CHECK;
void conf_free(const struct conf_opt *opts, size_t n, void *cfg);

/*
 * conf_print(opts, n, cfg, out):
 * Append the values as lines VARIABLE=value, with control characters as '?' and
 * secrets as ***.
 */
void conf_print(
    const struct conf_opt *opts, size_t n, const void *cfg, struct buf *out);

/* Most unknown variables that are reported. */
#define CONF_UNKNOWN_MAX 16

/*
 * conf_unknown(opts, n, more, out):
 * Append a line for each variable of the environment that is not in opts but
 * resembles one that is.  The names in more, one a line, and VARIABLE_FILE are
 * known, too.  Values are not repeated.
 */
void conf_unknown(
    const struct conf_opt *opts, size_t n, struct str more, struct buf *out);

/* conf_help(opts, n, out): The options for --help, aligned. */
void conf_help(const struct conf_opt *opts, size_t n, struct buf *out);

/*
 * conf_markdown(opts, n, out):
 * Append the options as rows of a Markdown table: variable, default, meaning.
 * The caller writes the heading.
 */
void conf_markdown(const struct conf_opt *opts, size_t n, struct buf *out);

#endif /* !CORE_CONF_H */
