package io.railhead.gateway.authorization;

import io.railhead.gateway.request.RequestSource;
import java.util.List;
import java.util.Set;

/**
 * One statement of a policy.
 *
 * @param everybody the {@code "*"} principal, unsigned requests included
 * @param principals names, if the statement is not for everybody
 * @param actions the statement's actions; {@code NotAction} is resolved
 * @param resources patterns of {@code bucket/key}
 * @param notResource true if the statement applies to resources that no pattern matches
 */
record Statement(boolean allows, boolean everybody, Set<String> principals, Set<S3Action> actions,
        List<Wildcard> resources, boolean notResource, List<Condition> conditions) {

    Statement {
        principals = Set.copyOf(principals);
        actions = Set.copyOf(actions);
        resources = List.copyOf(resources);
        conditions = List.copyOf(conditions);
    }

    boolean isAbout(RequestSource requestSource, Access access) {
        return (everybody || principals.contains(requestSource.principal()))
                && actions.contains(access.action())
                && namesResource(access) != notResource && conditionsHold(requestSource, access);
    }

    private boolean namesResource(Access access) {
        for (int i = 0; i < resources.size(); i++) {
            if (resources.get(i).matches(access.bucket(), access.key())) {
                return true;
            }
        }
        return false;
    }

    private boolean conditionsHold(RequestSource requestSource, Access access) {
        for (int i = 0; i < conditions.size(); i++) {
            if (!conditions.get(i).holds(requestSource, access)) {
                return false;
            }
        }
        return true;
    }
}
