assert new File(basedir, 'build.log').text =~ /\[ERROR\].*is not a folder/
assert !new File(basedir, 'target/classes').exists()
