/** Scripts that let a shell complete commands and options. */
@NullMarked
package io.railhead.cli.completion;

import org.jspecify.annotations.NullMarked;
