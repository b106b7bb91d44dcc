"""Options that depend on the version of the JVM."""

import os


def open_java_lang(java_home):
    """Returns the option for the library of YARN's web pages, which defines classes in java.lang.

    Java 8 has no modules and refuses the option. Hadoop adds it to its application masters only since 3.4.
    """
    has_modules = os.path.exists(os.path.join(java_home, "lib", "modules"))
    return ["--add-opens=java.base/java.lang=ALL-UNNAMED"] if has_modules else []
