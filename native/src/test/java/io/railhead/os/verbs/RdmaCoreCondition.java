package io.railhead.os.verbs;

import java.io.IOException;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Disables tests where rdma-core's libraries cannot be loaded, with or without a device. */
final class RdmaCoreCondition implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        try {
            VerbsProvider.install();
            return ConditionEvaluationResult.enabled("rdma-core's libraries are here");
        } catch (IOException e) {
            return ConditionEvaluationResult.disabled(e.getMessage());
        }
    }
}
