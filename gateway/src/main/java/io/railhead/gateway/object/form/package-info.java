/** Uploads by HTML forms. */
@NullMarked
package io.railhead.gateway.object.form;

import org.jspecify.annotations.NullMarked;
