package io.railhead.gateway.authorization;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.JsonFile;
import io.railhead.gateway.config.Section;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;

/**
 * Reads a policy in the supported subset of S3's policy language. Anything else in the file is
 * refused with one line that names statement and field. A policy that is understood in part
 * protects nothing.
 */
final class PolicyReader {
    private static final String VERSION = "2012-10-17";
    private static final String ARN = "arn:aws:s3:::";
    private static final List<String> OPERATORS = List.of("StringEquals", "StringNotEquals",
            "StringLike", "StringNotLike", "IpAddress", "NotIpAddress", "Bool");

    private final Set<String> sids = new HashSet<>();

    private final boolean isOfSession;

    private PolicyReader(boolean isOfSession) {
        this.isOfSession = isOfSession;
    }

    static Policy read(Path file, byte[] content) throws ConfigException {
        return new PolicyReader(false).policy(JsonFile.parse(file, content));
    }

    /**
     * Reads a role session's policy, whose statements name no principal.
     *
     * @throws IllegalArgumentException one line with the fault
     */
    static Policy readSession(String json) {
        try {
            return new PolicyReader(true).policy(
                    JsonFile.parse(Path.of("Policy"), json.getBytes(UTF_8)));
        } catch (ConfigException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private Policy policy(Section root) throws ConfigException {
        String version = root.requireText("Version");
        if (!version.equals(VERSION)) {
            throw root.problem("Version", "must be \"" + VERSION + "\"");
        }
        root.text("Id", "");
        List<Section> sections = root.isSection("Statement")
                ? List.of(root.section("Statement"))
                : root.list("Statement");
        root.close();
        if (sections.isEmpty()) {
            throw root.problem("Statement", "is missing; name at least one");
        }
        List<Statement> statements = new ArrayList<>();
        for (Section section : sections) {
            statements.add(statement(section, statements.size()));
        }
        return new Policy(statements);
    }

    private Statement statement(Section section, int index) throws ConfigException {
        String sid = section.text("Sid");
        if (sid != null && !sids.add(sid)) {
            throw section.problem("Sid", "'" + sid + "' appears twice");
        }
        boolean allows = allows(section);
        Set<String> principals = principals(section);
        Set<S3Action> actions = actions(section);
        boolean notResource = section.has("NotResource");
        List<Wildcard> resources = resources(section, notResource);
        requireMapping(section, "Condition");
        List<Condition> conditions = conditions(section.section("Condition"));
        section.close();
        return new Statement("Statement[" + index + "]" + (sid == null ? "" : " (" + sid + ")"),
                allows, principals.contains("*"), principals, actions, resources,
                notResource, conditions);
    }

    private static boolean allows(Section section) throws ConfigException {
        return switch (section.requireText("Effect")) {
            case "Allow" -> true;
            case "Deny" -> false;
            default -> throw section.problem("Effect", "must be Allow or Deny");
        };
    }

    private Set<String> principals(Section section) throws ConfigException {
        if (isOfSession) {
            if (section.has("Principal")) {
                throw section.problem("Principal", "has no place in a session's policy");
            }
            return Set.of("*");
        }
        if (section.isSection("Principal")) {
            throw section.problem("Principal",
                    "must be a principal's name in credentials.yaml, a list of names, or \"*\"");
        }
        Set<String> principals = new LinkedHashSet<>();
        for (String name : section.textOrTexts("Principal")) {
            if (name.isBlank() || (name.length() > 1 && name.indexOf('*') >= 0)) {
                throw section.problem("Principal", "'" + name + "' is neither a name nor \"*\"");
            }
            principals.add(name);
        }
        return principals;
    }

    private static Set<S3Action> actions(Section section) throws ConfigException {
        boolean not = section.has("NotAction");
        if (not == section.has("Action")) {
            throw section.problem("Action", "needs either Action or NotAction");
        }
        String key = not ? "NotAction" : "Action";
        Set<S3Action> named = EnumSet.noneOf(S3Action.class);
        for (String pattern : section.textOrTexts(key)) {
            Set<S3Action> matching = S3Action.matching(pattern);
            if (matching.isEmpty()) {
                throw section.problem(key, "'" + pattern + "' names no action that passes here,"
                        + " such as s3:GetObject, s3:PutObject, s3:ListBucket or s3:*");
            }
            named.addAll(matching);
        }
        return not ? EnumSet.complementOf(EnumSet.copyOf(named)) : named;
    }

    private static List<Wildcard> resources(Section section, boolean not) throws ConfigException {
        if (not == section.has("Resource")) {
            throw section.problem("Resource", "needs either Resource or NotResource");
        }
        String key = not ? "NotResource" : "Resource";
        List<Wildcard> resources = new ArrayList<>();
        for (String arn : section.textOrTexts(key)) {
            boolean all = arn.equals("*");
            if (!all && (!arn.startsWith(ARN) || arn.length() == ARN.length())) {
                throw section.problem(key,
                        "'" + arn + "' must be \"*\", " + ARN + "BUCKET or " + ARN
                                + "BUCKET/KEY");
            }
            resources.add(wildcard(section, key, all ? arn : arn.substring(ARN.length()),
                    Wildcard::parseResource));
        }
        return resources;
    }

    private static Wildcard wildcard(Section section, String key, String text,
            Function<String, Wildcard> parser) throws ConfigException {
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw section.problem(key, String.valueOf(e.getMessage()));
        }
    }

    private static List<Condition> conditions(Section section)
            throws ConfigException {
        List<Condition> conditions = new ArrayList<>();
        for (String operator : section.keys()) {
            if (!OPERATORS.contains(operator)) {
                throw section.problem(operator,
                        "is not one of " + String.join(", ", OPERATORS));
            }
            requireMapping(section, operator);
            Section lines = section.section(operator);
            if (lines.keys().isEmpty()) {
                throw section.problem(operator, "names no key");
            }
            for (String key : lines.keys()) {
                conditions.add(condition(operator, lines, key));
            }
        }
        section.close();
        return conditions;
    }

    /** Refuses an empty section: without conditions the statement would apply to everybody. */
    private static void requireMapping(Section section, String key) throws ConfigException {
        if (section.keys().contains(key) && !section.isSection(key)) {
            throw section.problem(key, "must be a mapping");
        }
    }

    private static Condition condition(String operator, Section line, String key)
            throws ConfigException {
        return switch (operator) {
            case "StringEquals" -> text(line, key, false, false);
            case "StringNotEquals" -> text(line, key, false, true);
            case "StringLike" -> text(line, key, true, false);
            case "StringNotLike" -> text(line, key, true, true);
            case "IpAddress" -> source(line, key, false);
            case "NotIpAddress" -> source(line, key, true);
            default -> secure(line, key);
        };
    }

    private static Condition text(Section line, String key, boolean like, boolean not)
            throws ConfigException {
        Condition.Subject subject = switch (key.toLowerCase(Locale.ROOT)) {
            case "s3:prefix" -> Condition.Subject.PREFIX;
            case "s3:delimiter" -> Condition.Subject.DELIMITER;
            default -> throw line.problem(key, "is not one of s3:prefix, s3:delimiter");
        };
        List<Wildcard> patterns = new ArrayList<>();
        for (String text : line.textOrTexts(key)) {
            Wildcard pattern = wildcard(line, key, text, Wildcard::parse);
            if (!like && pattern.hasWildcards()) {
                throw line.problem(key, "'" + text + "': wildcards need StringLike");
            }
            patterns.add(pattern);
        }
        return new Condition.Text(subject, patterns, not);
    }

    private static Condition source(Section line, String key, boolean not)
            throws ConfigException {
        if (!key.equalsIgnoreCase("aws:SourceIp")) {
            throw line.problem(key, "must be aws:SourceIp");
        }
        List<Network> networks = new ArrayList<>();
        for (String text : line.textOrTexts(key)) {
            try {
                networks.add(Network.parse(text));
            } catch (IllegalArgumentException e) {
                throw line.problem(key, String.valueOf(e.getMessage()));
            }
        }
        return new Condition.Source(networks, not);
    }

    private static Condition secure(Section line, String key) throws ConfigException {
        if (!key.equalsIgnoreCase("aws:SecureTransport")) {
            throw line.problem(key, "must be aws:SecureTransport");
        }
        return switch (String.join(",", line.textOrTexts(key))) {
            case "true" -> new Condition.Secure(true);
            case "false" -> new Condition.Secure(false);
            default -> throw line.problem(key, "must be \"true\" or \"false\"");
        };
    }
}
