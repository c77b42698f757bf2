/*
 * workspace_size: how much a folder holds.
 */
#ifndef PROCSUP_WORKSPACE_SIZE_H
#define PROCSUP_WORKSPACE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * workspace_size_over(path, bytes, files):
 * Whether the folder and what is below it take more than that many bytes on the
 * disk, or more than that many files and folders; 0: no limit.  Other file
 * systems and symbolic links are not followed.  Stops as soon as it is over.
 */
bool workspace_size_over(const char *path, int64_t bytes, int64_t files);

#endif /* !PROCSUP_WORKSPACE_SIZE_H */
