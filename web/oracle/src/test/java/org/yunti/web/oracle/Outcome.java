package org.yunti.web.oracle;

import java.util.List;
import java.util.Map;

/**
 * All that a page has done, as text that can be compared.
 *
 * @param thrown the exception with its causes and places, or ""
 * @param context the context's keys and values afterwards
 * @param journal what happened, in order
 */
public record Outcome(String text, String thrown, Map<String, String> context, List<String> journal) {}
