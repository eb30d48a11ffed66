package io.railhead.gateway.authorization;

import io.railhead.gateway.request.RequestSource;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A policy variable, {@code ${NAME}}: its value is taken as it is, without wildcards. */
enum Variable {
    PRINCIPAL("principal", "aws:username") {
        @Override
        String value(RequestSource source) {
            return source.principal();
        }
    },
    TENANT("tenant") {
        @Override
        String value(RequestSource source) {
            return source.tenant();
        }
    },
    STAR("*"),
    QUESTION_MARK("?"),
    DOLLAR("$");

    private final List<String> names;

    Variable(String... names) {
        this.names = List.of(names);
    }

    /** "" where the sender has none. An escape stands for itself. */
    String value(RequestSource source) {
        return names.getFirst();
    }

    /** Null where the name is no variable's. */
    static @Nullable Variable named(String name) {
        return Arrays.stream(values())
                .filter(variable -> variable.names.contains(name))
                .findFirst()
                .orElse(null);
    }
}
