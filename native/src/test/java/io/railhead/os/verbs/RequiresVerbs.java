package io.railhead.os.verbs;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test over real verbs: tagged {@code verbs}, skipped with its reason where there is no device,
 * but run, and so failed, where {@code RAILHEAD_REQUIRE_VERBS=1} promises one.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("verbs")
@ExtendWith(VerbsCondition.class)
public @interface RequiresVerbs {
}
