/*
 * migration_internal: what the files of the migration share.
 */
#ifndef CHAT_GATEWAY_MIGRATION_INTERNAL_H
#define CHAT_GATEWAY_MIGRATION_INTERNAL_H

#include "migrate/migration.h"

/* Names the format of all other keys. */
#define MIGRATION_KEY_FORMAT "soul:format"

typedef enum rc (*migration_page_fn)(
    void *arg, const struct str *keys, size_t n);

/*
 * migration_scan(m, fn, arg):
 * Call fn with the keys of the suite, a page at a time, until it does not
 * return RC_OK.  Each that exists all the time comes at least once.
 */
enum rc migration_scan(
    struct migration *m, migration_page_fn fn, void *arg) RC_CHECK;

#endif /* !CHAT_GATEWAY_MIGRATION_INTERNAL_H */
