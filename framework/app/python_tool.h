/* python_tool.h - `loom table` and other tools in Python, from an installation. */
#ifndef LOOM_PYTHON_TOOL_H
#define LOOM_PYTHON_TOOL_H

/* Becomes the tool `name` of the installation, with the arguments argv[1] on.  Returns an exit code
 * if there is no Python, and -1 if the installation has no tool of this name. */
int python_tool_run(const char *name, char **argv);

#endif
