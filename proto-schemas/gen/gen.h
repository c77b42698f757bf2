/*
 * gen: from a folder of JSON Schemas to C structs, tables and documents.
 *
 * The generator rejects whatever it does not implement, with file and JSON
 * path, and exits: gen_fail() does not return.  It runs once per build, so
 * what it allocates is left to the end of the process.
 */
#ifndef GEN_GEN_H
#define GEN_GEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"
#include "wire/desc.h"

/* A place in a schema. */
struct where {
	const char *file;
	const char *path; /* JSON Pointer */
};

/* An enum: its C name, and one constant per value. */
struct gen_enum {
	const char *name; /* wire_NAME */
	const char *desc;
	const char **constants;
	struct str *names;
	size_t n;
};

/*
 * A value's type.  t holds kind and bounds as the interpreter will see them,
 * but its pointers are not set: the members below stand for them.
 */
struct gen_type {
	struct wire_type t;
	const char *desc; /* NULL if it says nothing */
	const char *unit;
	struct gen_enum *names;
	struct gen_record *object;
	struct gen_type *elem;
	bool secret;
	const json_t *schema;
};

struct gen_field {
	const char *name; /* in JSON */
	const char *c;    /* in C */
	const char *desc;
	const char *unit;
	struct gen_type *type;
	unsigned int flags; /* WIRE_REQUIRED ... */
	union wire_num dflt;
	struct str dflt_s;
};

/* An object: struct wire_NAME. */
struct gen_record {
	const char *name;
	const char *desc;
	struct where from;
	struct gen_field *fields;
	size_t n;
	unsigned int flags; /* WIRE_TEXT ... */
	size_t list;
	uint64_t choice; /* bit i: fields[i] */
};

/* A file: a message, or definitions only. */
struct gen_file {
	const char *path; /* "dir/x.schema.json" */
	const char *name; /* "x" */
	json_t *json;
	bool message;
	const char *section;
	struct gen_record *record; /* of a message, once read */
	bool is_open;
};

/* A type that has a name of its own, by "x.schema.json#/$defs/y". */
struct gen_named {
	const char *key;
	struct gen_type *type; /* NULL while it is being read */
};

struct gen {
	const char *dir;
	struct gen_file *files; /* in order of name */
	size_t n_files;
	struct gen_record **records; /* each after those it holds */
	size_t n_records;
	struct gen_enum **enums;
	size_t n_enums;
	struct gen_named *named;
	size_t n_named;
	json_t *taken; /* identifier to where it came from */
	json_t *iface; /* interfaces.json, checked */
};

/* fail.c */
void gen_fail(struct where w, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
/* The place one or two steps down, each escaped; NULL for no second. */
struct where gen_down(struct where w, const char *a, const char *b);
struct where gen_item(struct where w, size_t i);
char *gen_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* load.c: read all files of dir and everything in them. */
void gen_load(struct gen *g, const char *dir);
struct gen_file *gen_file_find(const struct gen *g, const char *name);

/* ident.c */
/* The C identifier of text, lower or upper case; NULL if it has none. */
char *gen_ident(const char *text, bool upper);
/* As gen_ident(), for a struct member: no keyword. */
char *gen_member(const char *text);
/* Claim an identifier of the generated code; it is an error to be second. */
void gen_claim(struct gen *g, const char *ident, struct where w);

/*
 * type.c: the type that a schema describes.  name is what a struct or enum in
 * it will be called, without "wire_".
 */
struct gen_type *gen_type_read(
    struct gen *g, struct where w, const json_t *schema, const char *name);
/* ref.c */
/* The type behind a "$ref". */
struct gen_type *gen_type_ref(struct gen *g, struct where w, const char *ref);
/* Reject members of schema that are not in allowed (NULL at the end). */
void gen_only(
    struct where w, const json_t *schema, const char *const allowed[]);
/* A member's text, or NULL; rejects another type, and what C cannot represent.
 */
const char *gen_text(struct where w, const json_t *schema, const char *key);
/* As gen_text(), but the member must be there. */
const char *gen_string(struct where w, const json_t *schema, const char *key);
/* A member that is true or false; false if it is not there. */
bool gen_flag(struct where w, const json_t *schema, const char *key);

/* record.c: objects and messages. */
struct gen_record *gen_record_read(
    struct gen *g, struct where w, const json_t *schema, const char *name);
/* Read a message unless it has been read; w is the reference to it. */
void gen_message_read(struct gen *g, struct where w, struct gen_file *f);

/* dflt.c: the default of a field, checked against its type. */
void gen_default(struct where w, struct gen_field *f, const json_t *value);

/* c_code.c: C source text; gen_write() empties b. */
void gen_comment(struct buf *b, const char *indent, const char *text);
void gen_literal(struct buf *b, struct str s);
void gen_write(const char *dir, const char *name, struct buf *b);

/* iface.c: read and check interfaces.json; it is empty if there is none. */
#define GEN_TOPIC_PREFIX "{prefix}/terminal/{terminal}/"
void gen_iface_load(struct gen *g);

/* Whether senders, managers, readers and writers are consistent. */
void gen_access_check(const struct gen *g, struct where top);
/* Whether a list of strings has s; false if there is no list. */
bool gen_lists(const json_t *entry, const char *member, const char *s);
/* The entry of a section whose member has the text s; NULL if none has. */
const json_t *gen_entry(const struct gen *g, const char *section,
    const char *member, const char *s);

/* chan.c: wire/subjects.h and wire/tables.c. */
void gen_subjects(struct gen *g, struct buf *b);
void gen_tables(struct gen *g, struct buf *b);

/* A member's text of an entry that is checked; NULL if there is none. */
const char *gen_of(const json_t *entry, const char *member);

/* A template with every "{…}" replaced. */
char *gen_fill(const char *template, const char *with);

/* yaml.c: v, an object, as YAML. */
void gen_yaml(struct buf *b, const json_t *v);

/* schemas.c: a message and all it refers to, among a document's components. */
void gen_component(
    const struct gen *g, json_t *components, const char *message);
/* {"$ref": …} to it. */
json_t *gen_schema_ref(const char *message);

/* The version of the protocol that the documents describe. */
#define GEN_PROTOCOL "2.0.0"

/* openapi.c, asyncapi.c, markdown.c: the documents. */
void gen_openapi(struct gen *g, struct buf *b);
void gen_asyncapi(struct gen *g, struct buf *b);
void gen_markdown(struct gen *g, struct buf *b);
void gen_markdown_names(struct buf *b, const json_t *entry, const char *member);
/* records.c: its sections of streams and of what lies in Redis. */
void gen_markdown_records(const struct gen *g, struct buf *b);

/* nats_rights.c, redis_rights.c: what each service may do on NATS and in Redis.
 */
void gen_nats_rights(struct gen *g, struct buf *b);
void gen_redis_rights(struct gen *g, struct buf *b);

/* acl.c: the broker's rules, for bodies and for services. */
void gen_acl_bodies(struct gen *g, struct buf *b);
void gen_acl_services(struct gen *g, struct buf *b);

/* head.c, table.c: wire/msgs.h and wire/msgs.c. */
/* A type's bounds in words, if it has any. */
void gen_range(struct buf *b, const struct gen_type *t);
/* Whether a field has a has_x member beside it. */
bool gen_has(const struct gen_field *f);
void gen_head(struct gen *g, struct buf *b);
void gen_table(struct gen *g, struct buf *b);

#endif /* !GEN_GEN_H */
