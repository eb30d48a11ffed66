/** {@code railhead admin}: what an administrator has a running gateway do. */
@NullMarked
package io.railhead.cli.admin;

import org.jspecify.annotations.NullMarked;
