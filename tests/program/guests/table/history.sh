# SPDX-License-Identifier: GPL-2.0-or-later
set -e
export GIT_AUTHOR_DATE='2017-01-02T03:04:05Z' GIT_COMMITTER_DATE='2017-01-02T03:04:05Z' GIT_CONFIG_NOSYSTEM=1
git init -q -b trunk repository
cd repository
git config user.name Somebody
git config user.email somebody@nowhere.invalid
git config core.pager cat
git config gc.auto 0
cp ../fixture.txt ../sorted.txt .
git add .
git commit -q -m 'all of it'
sed -i 's/^1/one/' fixture.txt
git commit -q -a -m 'some lines'
git log --stat --format='%h %s'
git show HEAD:sorted.txt | git hash-object --stdin
git diff HEAD~1 | git apply -R
git status --short
rm .git/index # it holds times and inode numbers
