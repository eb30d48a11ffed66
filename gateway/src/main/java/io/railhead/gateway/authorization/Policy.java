package io.railhead.gateway.authorization;

import io.railhead.gateway.request.RequestSource;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

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
        Statement deciding = findDeciding(requestSource, access);
        return deciding != null && deciding.allows();
    }

    /** The first that denies, else the first that allows; null where none is about it. */
    @Nullable
    Statement findDeciding(RequestSource requestSource, Access access) {
        Statement allowing = null;
        for (int i = 0; i < statements.size(); i++) {
            Statement statement = statements.get(i);
            if (statement.allows() && allowing != null) {
                continue;
            }
            if (statement.isAbout(requestSource, access)) {
                if (!statement.allows()) {
                    return statement;
                }
                allowing = statement;
            }
        }
        return allowing;
    }

    /** Returns every principal that a statement names. */
    Set<String> principals() {
        Set<String> principals = new TreeSet<>();
        statements.forEach(statement -> principals.addAll(statement.principals()));
        return principals;
    }

    /** Returns every claim that a pattern names. */
    Set<String> claims() {
        Set<String> claims = new TreeSet<>();
        for (Statement statement : statements) {
            statement.resources().forEach(pattern -> claims.addAll(pattern.claims()));
            for (Condition condition : statement.conditions()) {
                if (condition instanceof Condition.Text text) {
                    text.patterns().forEach(pattern -> claims.addAll(pattern.claims()));
                }
            }
        }
        return claims;
    }

    int size() {
        return statements.size();
    }
}
