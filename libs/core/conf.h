/*
 * conf: configuration from the environment, one table of options per program.
 *
 * An option's value is that of its variable; if that is unset or empty, the
 * content of the file named by <variable>_FILE (one trailing newline cut);
 * otherwise the default; a number or bool without a default must be set.
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

/* The row of member m of struct t. */
#define CONF_AT(t, m) .off = offsetof(struct t, m)

/*
 * conf_load(opts, n, cfg, errors):
 * Fill *cfg.  RC_INVALID if an option is wrong; it then has its default, and
 * errors one line for each that is, saying what would be right.  Texts in cfg
 * are heap copies that conf_free() frees; call it in either case.
 */
enum rc conf_load(const struct conf_opt *opts, size_t n, void *cfg,
    struct buf *errors) RC_CHECK;
void conf_free(const struct conf_opt *opts, size_t n, void *cfg);

/*
 * conf_print(opts, n, cfg, out):
 * The values in force as VARIABLE=value lines, control characters as '?', a
 * secret that is set as ***.
 */
void conf_print(
    const struct conf_opt *opts, size_t n, const void *cfg, struct buf *out);

/*
 * conf_closest(name, known, n):
 * The one of n names of variables that somebody who wrote name most likely
 * meant, or NULL: a letter or two are other, missing, more or exchanged, or one
 * word between underscores is missing or more.  Pure.
 */
const char *conf_closest(struct str name, const char *const known[], size_t n);

/* Unknown variables that are told at most. */
#define CONF_UNKNOWN_MAX 16

/*
 * conf_unknown(opts, n, more, out):
 * A line for each variable of the environment that is none of opts, but like
 * one; the names in more (one a line), and VARIABLE_FILE, are known, too.  No
 * value is told.
 */
void conf_unknown(
    const struct conf_opt *opts, size_t n, struct str more, struct buf *out);

/* conf_help(opts, n, out): The options for --help, aligned. */
void conf_help(const struct conf_opt *opts, size_t n, struct buf *out);

/*
 * conf_markdown(opts, n, out):
 * The options as rows of a Markdown table with three columns: variable,
 * default, meaning.  The caller writes the heading.
 */
void conf_markdown(const struct conf_opt *opts, size_t n, struct buf *out);

#endif /* !CORE_CONF_H */
