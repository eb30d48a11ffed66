package io.railhead.gateway.authorization;

import io.railhead.gateway.request.RequestSource;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * An access policy in S3's policy language. An action that no statement allows is denied, and a
 * denying statement outweighs every allowing one. Immutable; evaluation allocates nothing.
 */
final class Policy {
    static final Policy DENIES_ALL = new Policy(List.of());

    private final List<Statement> statements;

    Policy(List<Statement> statements) {
        this.statements = List.copyOf(statements);
    }

    boolean allows(RequestSource requestSource, Access access) {
        boolean allowed = false;
        for (int i = 0; i < statements.size(); i++) {
            Statement statement = statements.get(i);
            if (!statement.allows() && statement.isAbout(requestSource, access)) {
                return false;
            }
            allowed |= !allowed && statement.allows() && statement.isAbout(requestSource, access);
        }
        return allowed;
    }

    /** Returns every principal that a statement names. */
    Set<String> principals() {
        Set<String> principals = new TreeSet<>();
        statements.forEach(statement -> principals.addAll(statement.principals()));
        return principals;
    }

    int size() {
        return statements.size();
    }
}
