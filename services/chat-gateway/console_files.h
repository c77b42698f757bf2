/*
 * console_files: the console's pages and modules, generated from console/ by
 * console/embed.  Constant.
 */
#ifndef CHAT_GATEWAY_CONSOLE_FILES_H
#define CHAT_GATEWAY_CONSOLE_FILES_H

#include <stddef.h>

#include "httpd/httpd_files.h"

extern const struct httpd_file *const console_files;
extern const size_t console_files_n;

#endif /* !CHAT_GATEWAY_CONSOLE_FILES_H */
