package io.railhead.os;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Skips a test, with the reason, where the file system of temporary files refuses direct reads and
 * writes (O_DIRECT).
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(DirectFileCondition.class)
public @interface RequiresDirectFiles {
}
