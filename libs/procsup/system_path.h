/*
 * system_path: what engines may use of the system's files.
 */
#ifndef PROCSUP_SYSTEM_PATH_H
#define PROCSUP_SYSTEM_PATH_H

#include <stdbool.h>

#include "procsup/landlock.h"

struct system_path {
	const char *path;
	enum landlock_access access;
	bool virtual; /* of the kernel: bubblewrap makes them anew */
};

/* Ends with a path that is NULL. */
extern const struct system_path system_paths[];

#endif /* !PROCSUP_SYSTEM_PATH_H */
