/** Where missing bytes come from: a backend as one principal sees it. */
@NullMarked
package io.railhead.gateway.fill;

import org.jspecify.annotations.NullMarked;
