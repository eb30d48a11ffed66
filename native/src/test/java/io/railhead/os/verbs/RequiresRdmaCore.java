package io.railhead.os.verbs;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Skips a test, with the reason, on a machine without rdma-core's libraries. The skipped test's
 * {@code @BeforeEach} and {@code @AfterEach} do not run, so that nothing is closed that was never
 * opened.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RdmaCoreCondition.class)
public @interface RequiresRdmaCore {
}
