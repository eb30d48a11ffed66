/**
 * The operating system through {@code java.lang.foreign}: the only package with a {@code Linker}.
 */
@NullMarked
package io.railhead.os;

import org.jspecify.annotations.NullMarked;
