package io.railhead.gateway.authorization;

import io.railhead.gateway.request.RequestSource;
import java.util.Arrays;
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

    private final String name;
    /** Another spelling; the name itself where there is none. */
    private final String alias;

    Variable(String name) {
        this(name, name);
    }

    Variable(String name, String alias) {
        this.name = name;
        this.alias = alias;
    }

    /** "" where the sender has none. An escape stands for itself. */
    String value(RequestSource source) {
        return name;
    }

    /** Null where the name is no variable's. */
    static @Nullable Variable named(String name) {
        return Arrays.stream(values())
                .filter(variable -> variable.name.equals(name) || variable.alias.equals(name))
                .findFirst()
                .orElse(null);
    }
}
