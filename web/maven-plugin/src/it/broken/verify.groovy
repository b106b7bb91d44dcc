// A template that Velocity cannot parse stays unchanged and is reported.
def name = 'templates/page.vm'
assert new File(basedir, 'build.log').text =~ /\[WARNING\].*page\.vm/
assert new File(basedir, 'target/classes/' + name).text == new File(basedir, 'src/main/resources/' + name).text
