/** One HTTP request and its answer: the exchange, and both bodies on their way. */
@NullMarked
package io.railhead.gateway.http;

import org.jspecify.annotations.NullMarked;
