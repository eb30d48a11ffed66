package io.railhead.gateway.authorization;

import io.railhead.gateway.request.RequestSource;
import java.util.List;
import java.util.Set;

/**
 * One statement of a policy. Where the sender lacks the value of a variable, nothing more is
 * allowed for that: an exclusion that cannot be judged keeps an {@code Allow} from holding.
 *
 * @param name as messages say it: its place, and its {@code Sid}
 * @param everybody the {@code "*"} principal, unsigned requests included
 * @param principals names, if the statement is not for everybody
 * @param actions the statement's actions; {@code NotAction} is resolved
 * @param resources patterns of {@code bucket/key}
 * @param notResource true if the statement applies to resources that no pattern matches
 */
record Statement(String name, boolean allows, boolean everybody, Set<String> principals,
        Set<S3Action> actions,
        List<Wildcard> resources, boolean notResource, List<Condition> conditions) {

    Statement {
        principals = Set.copyOf(principals);
        actions = Set.copyOf(actions);
        resources = List.copyOf(resources);
        conditions = List.copyOf(conditions);
    }

    boolean isAbout(RequestSource requestSource, Access access) {
        return (everybody || names(requestSource))
                && actions.contains(access.action())
                && isAboutResource(requestSource, access) && conditionsHold(requestSource, access);
    }

    private boolean names(RequestSource requestSource) {
        return principals.contains(requestSource.principal())
                || (requestSource.session() != null
                        && principals.contains(requestSource.session().roleName()));
    }

    private boolean isAboutResource(RequestSource requestSource, Access access) {
        for (int i = 0; i < resources.size(); i++) {
            if (resources.get(i).matches(requestSource, access.bucket(), access.key())) {
                return !notResource;
            }
        }
        return notResource && (!allows || areKnown(resources, requestSource));
    }

    /** Returns whether the sender has a value for each variable of the patterns. */
    static boolean areKnown(List<Wildcard> patterns, RequestSource requestSource) {
        for (int i = 0; i < patterns.size(); i++) {
            if (!patterns.get(i).isKnownFor(requestSource)) {
                return false;
            }
        }
        return true;
    }

    private boolean conditionsHold(RequestSource requestSource, Access access) {
        for (int i = 0; i < conditions.size(); i++) {
            Condition condition = conditions.get(i);
            if (!condition.holds(requestSource, access)
                    || (allows && !condition.canBeJudged(requestSource))) {
                return false;
            }
        }
        return true;
    }
}
