package org.yunti.web.shrink;

import java.util.List;

/**
 * What became of one template.
 *
 * @param name its path below the folder, with /
 * @param before its source
 * @param squeezed with its white space squeezed; the same, where that was not asked for or not possible
 * @param after with its marked loops turned as well
 * @param loops how many of them
 * @param notes what was left as it was and why, a line each
 */
public record ShrunkTemplate(String name, String before, String squeezed, String after, int loops, List<String> notes) {}
